import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { AUTHORIZER, type Authorizer } from '../machinery/authorizer.js';
import { AdmissionChain } from './chain.js';
import { RequestAdmission } from './request-admission.js';

/** Where a request is given its admission. */
interface WritingRequest {
  readonly plinthContext: { admission: RequestAdmission | undefined };
}

/**
 * Gives a request that writes its admission. It decides nothing: the body is not read yet, and the chain runs where the
 * objects are known (`endpoints/writes/write.ts`).
 */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor {
  private readonly admission: RequestAdmission;

  constructor(@Inject(AdmissionChain) chain: AdmissionChain, @Inject(AUTHORIZER) authorizer: Authorizer) {
    this.admission = new RequestAdmission(chain, authorizer);
  }

  intercept(host: ExecutionContext, next: CallHandler): Observable<unknown> {
    host.switchToHttp().getRequest<WritingRequest>().plinthContext.admission = this.admission;
    return next.handle();
  }
}
