/** A manifest that does not describe a pod. The message gives the reason in one line. */
export class ManifestError extends Error {
  constructor(
    message: string,
    /** Whether the same text may be fine another time, when the machine has more to give. */
    readonly mayPass = false,
  ) {
    super(message);
  }
}
