// The authorization server as the door and the console see it. oidc-provider is loaded with the first request: a gateway that nobody signs
// in to pays nothing for it.
import type { IncomingMessage } from 'node:http'
import type Provider from 'oidc-provider'
import type { Addresses } from '../../core/config.ts'
import type { RateSharing } from '../../core/rate-sharing.ts'
import type { Logger } from '../../lib/log.ts'
import type { DocumentReader } from '../../outbound/document.ts'
import type { Store } from '../../store/ports.ts'
import type { AuthorizationServer, Connections, Interactions } from '../ports.ts'
import { createBrowsers } from './browser.ts'
import { createDocumentFetch } from './documents.ts'
import { createInteractions } from './interactions.ts'
import { type DeriveKey, rowKey } from './keys.ts'
import { canonicalResource } from './resource.ts'
import { createRows } from './rows.ts'

export interface OauthParts {
  readonly store: Store
  readonly addresses: Addresses
  readonly connections: Connections
  readonly deriveKey: DeriveKey
  readonly readDocument: DocumentReader
  readonly rates?: Pick<RateSharing, 'of'> | undefined
  readonly log: Logger
  readonly now: () => number
}

export interface Oauth {
  readonly server: AuthorizationServer
  readonly interactions: Interactions
}

type Visit = Parameters<AuthorizationServer['handle']>[2]

export function createOauth(parts: OauthParts): Oauth {
  const { addresses, store, connections, deriveKey, now } = parts
  const { baseUrl } = addresses
  const rows = createRows({ store, now, key: rowKey(deriveKey) })
  const browsers = createBrowsers({ baseUrl, key: deriveKey('sign-in browsers') })
  const visits = new WeakMap<IncomingMessage, Visit>()
  let opened: Promise<Provider> | undefined

  function open(): Promise<Provider> {
    opened ??= import('./provider.ts').then(({ createProvider }) =>
      createProvider({
        ...parts,
        rows,
        fetchDocument: createDocumentFetch(parts),
        mayFetch: async (ctx) => (ctx && visits.get(ctx.req)?.mayFetch()) ?? true,
        consentAddress: (ctx, uid) => {
          const bound = browsers.bind(ctx.req, ctx.res, uid)
          const language = visits.get(ctx.req)?.language === 'ar' ? '/ar' : ''
          return `${baseUrl}${language}/console/connect/${bound}`
        },
        async showError(ctx, error, description) {
          ctx.respond = false
          await visits.get(ctx.req)?.refuse(ctx.status, error, description)
        },
      }),
    )
    // What failed once is tried again.
    opened.catch(() => (opened = undefined))
    return opened
  }

  return {
    server: {
      async handle(req, res, visit) {
        visits.set(req, visit)
        await (await open()).callback()(req, res)
      },
    },
    interactions: createInteractions({
      rows,
      browsers,
      connections,
      provider: open,
      rates: parts.rates,
      baseUrl,
      resource: canonicalResource(addresses),
      now,
    }),
  }
}
