// How a member of an input is published where that differs from what is accepted: written at the member with `.meta({ … })`, read by
// src/core/advertised-schema.ts. What is accepted is decided by zod alone, and these words change nothing of it.
import 'zod'

/** A JSON Schema, as an object that is ready to be sent. */
type Form = Readonly<Record<string, unknown>>

declare module 'zod' {
  interface GlobalMeta {
    /**
     * `false`: accepted and never published, such as an alias or a wrapper of other clients. `'required'`: published as required,
     * because everything that could stand in its place is not published.
     */
    readonly advertised?: false | 'required'
    /** What is published instead of the member's own schema: narrower, never wider. Its description stays. */
    readonly advertisedAs?: Form
    /**
     * The same for lists of tools alone, where every word costs every model that reads them; documents have the whole. A form without a
     * `type` is laid over the member's own words; `default: null` leaves its default out.
     */
    readonly listedAs?: Form
    /** `false`: published in documents and left out of lists: few calls want it, and none needs it. */
    readonly listed?: false
  }
}
