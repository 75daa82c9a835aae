/** Stands for an error that a function in the thread threw. */
export class ThrownInThread extends Error {}
