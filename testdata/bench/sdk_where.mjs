// Says where the installer of testdata/interop put the clients, and which node
// can run them.
console.log(JSON.stringify({ Node: process.execPath, Modules: process.env.REHOME_INTEROP_MODULES }));
