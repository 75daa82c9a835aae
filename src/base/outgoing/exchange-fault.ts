/** Why a request received no usable response. The message may be shown to clients. */
export class ExchangeFault extends Error {}
