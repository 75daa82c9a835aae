/** A volume that can't be prepared now. The message is for the pod's events. */
export class VolumeProblem extends Error {}
