import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { TOKEN_REVIEWER, type TokenReviewer } from '../../base/machinery/tokens.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { selfSubjectReviewResource } from './self-subject-review/self-subject-review.resource.js';
import { tokenReviewResource } from './token-review/token-review.resource.js';

/** Resources of the group `authentication`: reviews of the identity of a user. None of them are stored. */
export function authenticationResources(names: VendorNames, tokens: TokenReviewer, clock: Clock): ResourceDefinition[] {
  return [tokenReviewResource(names, tokens), selfSubjectReviewResource(names, clock)];
}

/** The API group `authentication`. */
@Module({})
export class AuthenticationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AuthenticationApiModule, host, {
      inject: [VENDOR_NAMES, TOKEN_REVIEWER, CLOCK],
      useFactory: authenticationResources,
    });
  }
}
