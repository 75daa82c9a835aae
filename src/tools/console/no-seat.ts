/** The user has too much under way already, or nothing became free in time. */
export class NoSeat extends Error {}
