/** Loaded into a server under test. At SIGUSR2 it causes an uncaught exception and an unhandled rejection. */
process.on('SIGUSR2', () => {
  setTimeout(() => {
    throw new Error('thrown on purpose');
  }, 0);
  void Promise.reject(new Error('rejected on purpose'));
});
