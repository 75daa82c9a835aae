/** A volume that waits for other components; there is no error yet. */
export class VolumePending extends Error {}
