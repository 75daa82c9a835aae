/** Something about a claim, class or device that keeps devices from being allocated; the message is for the user. */
export class DeviceFault extends Error {
  /**
   * @param isOfNode whether the pod may get its devices on another node. Otherwise it goes to no node until somebody has
   *   repaired the fault, even if only the devices of one node show it
   */
  constructor(
    message: string,
    readonly isOfNode = false,
  ) {
    super(message);
  }
}
