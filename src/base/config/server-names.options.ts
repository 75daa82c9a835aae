import { IsIn } from 'class-validator';
import type { Compatibility } from '../machinery/vendor.js';
import { Check } from './check.js';
import { Flag } from './flag.js';

function vendorProblem(text: string): string | undefined {
  const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
  return new RegExp(`^(?=.{1,200}$)${label}(\\.${label})+$`).test(text)
    ? undefined
    : 'must be a DNS name such as k8s.io';
}

/** How a server spells names that depend on the vendor. */
export class ServerNamesOptions {
  @Flag({
    name: 'vendor',
    type: 'string',
    unit: 'domain',
    usage: 'Suffix of API group names and well-known keys. Existing clients need k8s.io.',
  })
  @Check('vendor', vendorProblem)
  readonly vendor: string = 'k8s.io';

  @Flag({
    name: 'compat',
    type: 'string',
    values: ['kubernetes'],
    unit: 'name',
    usage: 'With "kubernetes", namespaces, media types, signers and annotations carry the upstream spellings.',
  })
  @IsIn(['', 'kubernetes'], { message: 'must be empty or kubernetes' })
  readonly compat: Compatibility = '';
}
