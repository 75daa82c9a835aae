/** Folders in which packages install network plugins. */
export const pluginFolders: readonly string[] = ['/opt/cni/bin', '/usr/lib/cni'];
