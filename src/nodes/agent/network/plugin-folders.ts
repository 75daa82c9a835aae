/** Folders in which packages install network plugins. */
export const pluginFolders: readonly string[] = ['/opt/cni/bin', '/usr/lib/cni'];

/** Where the library that runs network plugins keeps their results. */
export const resultsFolder = '/var/lib/cni/results';

/** The interface of a pod. */
export const interfaceName = 'eth0';
