// What a page is, and what it is given. A page is data first: `load` makes plain JSON, `View` draws it, and the same page is Markdown or
// JSON for an agent that asks for that.
import type { ComponentChildren, VNode } from 'preact'
import type { DoorParts } from '../parts.ts'
import type { Language, PageName } from './routes.ts'

export type SiteParts = DoorParts

/** What a visitor asks of a page. */
export interface PageRequest {
  readonly site: SiteParts
  readonly language: Language
  /** Values of the path's `{names}`, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The form that was sent to the page; undefined where it is only looked at. */
  readonly form: URLSearchParams | undefined
  /** Client address, request id and the like, for calls that the page makes in the visitor's name. */
  readonly visitor: {
    readonly address: string
    readonly requestId: string
    readonly signal: () => AbortSignal
  }
}

/**
 * A page of the site.
 * @typeParam D its data: plain JSON, which is also the page for programs
 */
export interface Page<D> {
  /**
   * Reads what the page shows. `undefined`: there is no such page (404).
   * @throws {GatewayError} shown as a page with its status
   */
  load(request: PageRequest): Promise<D | undefined> | D | undefined
  /** Name of the page without the site's. */
  title(data: D, page: PageContext): string
  /** One sentence, for search engines and previews. */
  description?(data: D, page: PageContext): string
  View(props: { readonly data: D; readonly page: PageContext }): VNode
  /** Its Markdown, where it was Markdown first; else it is made of what `View` draws. */
  toMarkdown?(data: D, page: PageContext): string
  /** It is the same until the process ends: it is rendered once for each language and form. `by path`: unless a query asks for more. */
  readonly isFixed?: boolean | 'by path'
  /** Status of a page that shows an outcome; 200 otherwise. */
  status?(data: D): number
  /** Whoever knows its address may see it, and search engines are not to tell. */
  readonly isUnlisted?: boolean
  /** Where it stands under several addresses, the one that counts: a path without language and query. */
  path?(data: D): string | undefined
  /** The widest layout: tables and pictures rather than text. */
  readonly isWide?: boolean
}

/** A page whose data nobody but itself looks into. */
export type AnyPage = Page<unknown>

/** Types the data of a page by its `load`. What `load` gave is all that its other members are ever given, so its type may be forgotten. */
export const definePage = <D extends object>(page: Page<D>): AnyPage => page as unknown as AnyPage

/** What every component of a page may know of it. */
export interface PageContext {
  readonly name: PageName | 'error' | 'console'
  readonly language: Language
  readonly direction: 'ltr' | 'rtl'
  readonly isSandbox: boolean
  readonly version: string
  /** Path and query of this page without base path and language. */
  readonly path: string
  readonly baseUrl: string
  readonly siteUrl: string
  readonly mcpUrl: string
  /** What stands before `/v1/...` in a request of a script: nothing, a path, or another origin. */
  readonly api: string
  /** Address of a page of this site in the visitor's language, from its path (`/catalogue`); other addresses come back as they are. */
  href(path: string): string
  /** The same page in another language. */
  inLanguage(language: Language): string
  /** Address of a built file: `site.css`, `try-it.js`. @throws where the site was not built */
  asset(name: string): string
  /** Asks for a script in the page's head; `Island` does. */
  needScript(name: string): void
}

export interface Children {
  readonly children?: ComponentChildren
}
