/** A JSON value as its text, for encoders that would write just that text; nothing else expects it. */
export class JsonText {
  constructor(readonly text: string) {}
}
