import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { AUTHORIZER, type Authorizer } from '../machinery/authorizer.js';
import { AdmissionChain } from './chain.js';
import { RequestAdmission } from './request-admission.js';

/** The part of a request that holds its admission. */
interface WritingRequest {
  readonly plinthContext: { admission: RequestAdmission | undefined };
}

/**
 * Attaches admission to a request that writes. It decides nothing itself: the body has not been read yet, and the chain
 * runs where the objects are known (`endpoints/writes/write.ts`).
 */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor {
  private readonly admission: RequestAdmission;

  constructor(@Inject(AdmissionChain) chain: AdmissionChain, @Inject(AUTHORIZER) authorizer: Authorizer) {
    this.admission = new RequestAdmission(chain, authorizer);
  }

  intercept(host: ExecutionContext, next: CallHandler): Observable<unknown> {
    host.getArgByIndex<WritingRequest>(0).plinthContext.admission = this.admission;
    return next.handle();
  }
}
