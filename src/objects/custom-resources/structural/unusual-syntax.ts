/** Thrown for syntax that this parser leaves to another engine. */
export class UnusualSyntax extends Error {}
