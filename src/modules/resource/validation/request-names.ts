import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import type { DeviceClaim } from '../../../objects/apis/resource/v1/device-claim.types.js';
import { validateDeviceLabel } from './device-names.validation.js';

const rule = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** The names of the requests of a claim, and of their alternatives. */
export class RequestNames {
  private readonly choices: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(claim: DeviceClaim) {
    this.choices = new Map(
      (claim.requests ?? []).map(({ name, firstAvailable = [] }) => [
        name,
        new Set(firstAvailable.map((choice) => choice.name)),
      ]),
    );
  }

  /** Validates a reference: `request` or `request/alternative`. */
  validateReference(name: string, path: FieldPath): FieldError[] {
    const parts = name.split('/');
    if (parts.length > 2) return [invalid(path, name, rule)];
    const errors = parts.flatMap((part) => validateDeviceLabel(part, path));
    const [request = '', choice] = parts;
    const found = this.choices.get(request);
    const isKnown = found !== undefined && (choice === undefined || found.has(choice));
    return isKnown ? errors : [...errors, invalid(path, name, rule)];
  }
}
