/** Why the pasted credentials can't be used. The message contains no secret of them. */
export class LoginError extends Error {}
