// silenced is a store whose process can stop renewing its leases, as a process does that was killed
// or hangs.
export function silenced(driver, make) {
  let silent = false;
  const { renew } = driver;
  driver.renew = (list, lease) => (silent ? Promise.reject(new Error("silent")) : renew(list, lease));
  return Object.assign(make(driver), { silence: async () => { silent = true; } });
}
