/** Thrown for a string that is not a JSON path; the message gives the reason. */
export class JsonPathError extends Error {}
