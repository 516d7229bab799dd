// patient tries a call again, for at most ms, while its errors pass; the result or error then has
// retried: true. Only calls that may be repeated are given to it.
export function patient(passes, ms, stopped) {
  return async (call) => {
    const end = Date.now() + ms;
    for (let wait = 20, retried = false; ; wait = Math.min(wait * 2, 1000)) {
      try {
        return Object.assign(await call(), { retried });
      } catch (error) {
        error.retried = retried;
        if (!passes(error) || Date.now() + wait > end || stopped()) throw error;
        retried = true;
        await new Promise((resolve) => { setTimeout(resolve, wait); });
      }
    }
  };
}
