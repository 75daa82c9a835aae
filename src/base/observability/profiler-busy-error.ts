/** The profiler is already in use by another caller. */
export class ProfilerBusyError extends Error {
  constructor() {
    super('another profile is being taken');
    this.name = 'ProfilerBusyError';
  }
}
