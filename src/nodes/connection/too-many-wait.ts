/** A minor request was given up before it began. */
export class TooManyWait extends Error {}
