/** Marks and letters without a width: a terminal puts them into the cell of the letter before. */
const anyMark = /[\p{M}\u200b-\u200f\u2060-\u206f]/u;
/** A code of terminals, a mark, or another letter. */
const parts = new RegExp(
  `(\\u001b(?:\\[[0-?]*[ -/]*[@-~]|[@-Z\\\\-_])|[\\u0000-\\u001f])|(${anyMark.source})|[^]`,
  'gu',
);
/** More than this on one letter are left out: a browser needs minutes for a letter with a million. */
const mostMarks = 32;

/** Leaves out what a program writes onto a single letter without an end, whatever codes stand between the marks. */
export class MarkLimit {
  private marks = 0;

  pass(text: string): string {
    if (!anyMark.test(text)) {
      this.marks = 0;
      return text;
    }
    return text.replace(parts, (part: string, code: string | undefined, mark: string | undefined) => {
      if (code !== undefined) return part;
      if (mark !== undefined) return ++this.marks > mostMarks ? '' : part;
      this.marks = 0;
      return part;
    });
  }
}
