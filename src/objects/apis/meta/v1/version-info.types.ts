import { type Infer, optional, required, string, struct } from '../../../../base/machinery/schema/index.js';

export const versionInfo = struct(
  'version.Info',
  {
    major: required(1, string, { doc: 'Major number of the release.' }),
    minor: required(2, string, { doc: 'Minor number of the release.' }),
    emulationMajor: optional(3, string, { doc: 'Major number of the release that the server answers as.' }),
    emulationMinor: optional(4, string, { doc: 'Minor number of the release that the server answers as.' }),
    minCompatibilityMajor: optional(5, string, { doc: 'Major number of the oldest release that can run beside it.' }),
    minCompatibilityMinor: optional(6, string, { doc: 'Minor number of the oldest release that can run beside it.' }),
    gitVersion: required(7, string, { doc: 'The release and the version of the program.' }),
    gitCommit: required(8, string, { doc: 'Commit that the program was built from.' }),
    gitTreeState: required(9, string, { doc: 'Whether the sources were changed after that commit.' }),
    buildDate: required(10, string, { doc: 'When the program was built.' }),
    goVersion: required(11, string, { doc: 'Runtime of the program.' }),
    compiler: required(12, string, { doc: 'Compiler of the program.' }),
    platform: required(13, string, { doc: 'Operating system and processor.' }),
  },
  { doc: 'The version of a server.' },
);
export type VersionInfo = Infer<typeof versionInfo>;
