import { StartupError } from '../../../base/machinery/startup-error.js';

/** A list whose connection ended after objects had arrived. */
export class BrokenList extends StartupError {}
