/** An expression returned no usable value for a token. The message contains no part of the token. */
export class ExpressionError extends Error {}
