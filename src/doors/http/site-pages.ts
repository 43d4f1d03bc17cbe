// What the other doors know of the site: its pages beside their addresses, and how it tells a person what a program is told otherwise.
import type { Challenge } from '../../core/charging.ts'
import type { GatewayError, Problem } from '../../core/errors.ts'
import type { Headers } from './reply.ts'
import type { Exchange, Resource } from './resource.ts'

/** A price as a person asks for it: with a browser, at an address that is sold to programs. */
export interface ShownPrice {
  readonly problem: Problem
  readonly challenge: Challenge
  /** All that the answer's head has to say; its type and policy are the page's. */
  readonly headers: Headers
}

/** Pages for people, at addresses of their own or beside what programs find there. */
export interface SitePages {
  readonly resources: readonly Resource[]
  /** Shows a refusal as a page; false where a problem document is right. */
  refuse(error: GatewayError, exchange: Exchange): Promise<boolean>
  /** Shows a price as a page; false where the site does not open, and the document for programs is all there is. */
  price(shown: ShownPrice, exchange: Exchange): Promise<boolean>
}
