/** An invalid header field that identifies a user. The message contains no value. */
export class HeaderFieldError extends Error {}
