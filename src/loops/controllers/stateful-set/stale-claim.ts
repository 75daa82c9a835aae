/** A claim that belongs to a former pod still exists. */
export class StaleClaim extends Error {}
