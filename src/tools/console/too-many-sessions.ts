/** There are as many sessions as allowed, and no user has so many that one of them could be replaced. */
export class TooManySessions extends Error {}
