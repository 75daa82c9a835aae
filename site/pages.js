// Which page of docs/ stands where in the menu. Pages that are not named here come under "More", so none is lost.
export const menu = [
  {
    text: 'Start',
    pages: [
      'getting-started',
      'first-ten-minutes',
      'install',
      'concepts',
      'how-to',
      'comparison',
      'support',
      'upgrades',
      'package',
    ],
  },
  {
    text: 'Run it',
    pages: [
      'cluster',
      'managed-postgresql',
      'node-agent',
      'proxy',
      'dns',
      'operations',
      'doctor',
      'security',
      'encryption',
      'audit',
      'backup',
      'flow-control',
      'upstream-components',
    ],
  },
  {
    text: 'Who may do what',
    pages: ['authentication', 'authorization', 'admission'],
  },
  {
    text: 'Use it',
    pages: [
      'sql',
      'history',
      'console',
      'custom-resources',
      'aggregation',
      'control-loops',
      'scheduling',
      'simulated-nodes',
      'node-streams',
    ],
  },
  {
    text: 'Test with it',
    pages: ['testing', 'assets'],
  },
  {
    text: 'Reference',
    pages: ['flags', 'metrics', 'api/index', 'deviations', 'benchmarks', 'benchmarks-tried'],
  },
  {
    text: 'Inside',
    pages: ['flow', 'glossary', 'adding-a-kind', 'specification', 'dependencies', 'decisions/README'],
  },
];
