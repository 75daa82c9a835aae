import { DeviceFault } from './device-fault.js';

/** The pod can't be placed yet: a control loop still makes a claim that it needs, and nothing has to be reported. */
export class ClaimNotMade extends DeviceFault {}
