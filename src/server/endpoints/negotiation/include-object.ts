export type IncludeObject = 'None' | 'Metadata' | 'Object';
