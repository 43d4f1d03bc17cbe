// What trying a tool takes: plain JSON, made on the server (trying.ts), read by the form in the browser.
import type { FieldFault } from '../form/read.ts'
import type { Schema } from '../form/schema.ts'

export interface TryFacts {
  readonly name: string
  readonly schema: Schema
  readonly examples: readonly { readonly title: string; readonly input: Record<string, unknown> }[]
  readonly method: 'GET' | 'POST'
  /** `{name}` in it is a member of the input. */
  readonly path: string
  readonly caller: 'anyone' | 'capability' | 'account' | 'operator' | 'admin' | 'email' | 'seller'
  /** Variable of the shell that holds the caller's token in examples. */
  readonly tokenIn?: string
  readonly isPaid: boolean
  readonly isDestructive: boolean
  /** It takes a key by which the same call twice is done once. */
  readonly takesKey: boolean
  /** Members that are filled in elsewhere. */
  readonly hidden: readonly string[]
  readonly secret: readonly string[]
  /** Why a form without a script cannot send it; undefined where it can. */
  readonly needsScript?: 'token' | 'secret'
  /** Longest time that a call may take. */
  readonly maxSeconds: number
}

/** What the form is filled with, and what the page answered to it where it was sent without a script. */
export interface TryState {
  readonly input: Record<string, unknown>
  readonly faults: readonly FieldFault[]
  readonly answer?: TryAnswer
}

/** An answer to a form that was sent to the page. */
export interface TryAnswer {
  readonly status: number
  readonly body: unknown
  readonly price?: {
    readonly amount: string
    readonly asset: string
    readonly network: string
    readonly pay_to: string
  }
}
