// What a page of the console is, and what it is given.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VNode } from 'preact'
import type { CallResult } from '../../core/call.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { SignedIn } from '../../store/ports.ts'
import type { DoorParts } from '../parts.ts'
import type { PageContext } from '../site/ports.ts'
import type { Language } from '../site/routes.ts'
import type { ConsolePageName } from './routes.ts'

export type ConsoleParts = DoorParts

/** What somebody asks of a page. */
export interface ConsoleRequest {
  readonly console: ConsoleParts
  readonly language: Language
  /** Values of the path's `{names}`, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /**
   * Calls a tool in the name of the person, within their role: limits, refusals, receipts and the audit log are those of every door.
   * @returns its output
   * @throws {GatewayError} as the tool refuses
   */
  call(tool: string, input: Readonly<Record<string, unknown>>): Promise<unknown>
  /** The same, where a refusal is a result like another. */
  try(tool: string, input: Readonly<Record<string, unknown>>): Promise<CallResult>
  /** The form that was refused, and why: what was typed is shown again, but for secrets. */
  readonly refused?: { readonly form: URLSearchParams; readonly error: GatewayError }
  readonly visitor: {
    readonly address: string
    readonly userAgent: string
    readonly requestId: string
    readonly signal: () => AbortSignal
  }
  /** Tells the audit log of a refusal that the page shows in its own words; it hears of those that it throws. */
  tell(error: GatewayError): Promise<void>
  /** Says that the call path told the audit log of it already: a refusal of a call that the page made itself is then one event. */
  told(error: GatewayError): void
  /** For sign-in alone, which sets cookies and reads those of the authorization server. */
  readonly exchange: { readonly req: IncomingMessage; readonly res: ServerResponse }
}

export interface SignedInRequest extends ConsoleRequest {
  readonly signedIn: SignedIn
}

/** What came of a form. */
export type ActionResult<D> =
  /** Done; the page at this path (`/console/keys?done=created`) says so. Without a path the same page is shown again. */
  | { readonly goTo: string }
  /** Drawn as the answer to the form: for what is shown this once, such as a token. `signedIn`: whoever the form has just signed in. */
  | { readonly show: D; readonly signedIn?: SignedIn }
  /** The browser leaves for another site, by a page: a form's own redirect is held to `form-action`. */
  | { readonly leaveFor: string }
  /** Plain data for the script that sent the form. */
  | { readonly answer: object }

type Asked<O extends boolean> = O extends true
  ? ConsoleRequest & { readonly signedIn?: SignedIn }
  : SignedInRequest

/**
 * A page of the console.
 * @typeParam D its data: plain JSON. A script asks for it with `Accept: application/json`.
 * @typeParam O whether it is for those, too, who are not signed in
 */
export interface ConsolePage<D, O extends boolean = false> {
  /** Reads what the page shows. `undefined`: there is no such page for this account (404). @throws {GatewayError} */
  load(request: Asked<O>): Promise<D | undefined> | D | undefined
  /** What its forms do, by the value of their `_action`. @throws {GatewayError} shown in the page, with what was typed */
  readonly actions?: Readonly<
    Record<string, (form: URLSearchParams, request: Asked<O>) => Promise<ActionResult<D>>>
  >
  title(data: D, page: ConsoleContext): string
  View(props: { readonly data: D; readonly page: ConsoleContext }): VNode
  /** Tables rather than text. */
  readonly isWide?: boolean
}

export type AnyConsolePage = ConsolePage<unknown, boolean>

/** What `load` gave is all that the other members are ever given, so its type may be forgotten. */
export const defineConsolePage = <D extends object>(page: ConsolePage<D>): AnyConsolePage =>
  page as unknown as AnyConsolePage
/** A page for whoever is not signed in, too. */
export const defineOpenPage = <D extends object>(page: ConsolePage<D, true>): AnyConsolePage =>
  page as unknown as AnyConsolePage

/** What every component of a page may know of it; the site's components take it as their page. */
export interface ConsoleContext extends PageContext {
  readonly name: 'console'
  readonly route: ConsolePageName
  readonly signedIn: SignedIn | undefined
  /** Value of the hidden field `_csrf` of every form (components/form.tsx writes it). */
  readonly csrf: string
  readonly refused: ConsoleRequest['refused']
}
