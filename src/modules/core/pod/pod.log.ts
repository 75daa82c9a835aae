import type { StreamSubresource } from '../../../objects/registry/subresource-definition.js';

/** `log`: the output of a container of the pod, as its node reports it. */
export const podLogPath: StreamSubresource = {
  type: 'stream',
  name: 'log',
  parameters: [
    { name: 'container', type: 'string', description: 'Whose log; may be missing if the pod has one container.' },
    { name: 'follow', type: 'boolean', description: 'Go on with what comes.' },
    {
      name: 'insecureSkipTLSVerifyBackend',
      type: 'boolean',
      description: 'Do not check the certificate of the node agent: whoever answers is believed.',
    },
    { name: 'limitBytes', type: 'integer', description: 'Most bytes of the answer.' },
    { name: 'previous', type: 'boolean', description: 'The log of the run before the present one.' },
    { name: 'sinceSeconds', type: 'integer', description: 'Only what is not older than this.' },
    { name: 'stream', type: 'string', description: 'All, Stdout or Stderr.' },
    { name: 'tailLines', type: 'integer', description: 'Only so many lines from the end.' },
    { name: 'timestamps', type: 'boolean', description: 'Begin every line with its time.' },
  ],
};
