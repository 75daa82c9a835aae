/** Something about a claim, class or device that keeps devices from being allocated; the message is for the user. */
export class DeviceFault extends Error {}
