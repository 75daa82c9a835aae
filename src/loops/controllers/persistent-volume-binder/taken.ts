/** The claim or the volume was bound to another one meanwhile. */
export class Taken extends Error {
  constructor() {
    super('another claim or volume was faster');
  }
}
