// The console as resources of the HTTP door. Everything that draws pages is loaded with the first request for one.
import { type GatewayError, toGatewayError } from '../../core/errors.ts'
import type { Exchange, Handler, Resource } from '../http/resource.ts'
import { type Language, LANGUAGES } from '../site/routes.ts'
import { createEvents } from './events.ts'
import type { ConsoleParts } from './ports.ts'
import { CONSOLE_ROUTES, type ConsolePageName, type ConsoleRoute } from './routes.ts'
import type { ConsoleServer } from './serve.tsx'

export interface Console {
  readonly resources: readonly Resource[]
  /** Ends the streams of news. */
  close(): void
}

/** @param refuse shows a refusal as a page; false where a problem document is right */
export function createConsole(
  parts: ConsoleParts,
  refuse: (error: GatewayError, exchange: Exchange) => Promise<boolean>,
): Console {
  let opened: Promise<ConsoleServer> | undefined
  function open(): Promise<ConsoleServer> {
    opened ??= import('./serve.tsx').then(({ openConsole }) => openConsole(parts))
    // What failed once is tried again.
    opened.catch(() => (opened = undefined))
    return opened
  }

  const handlerOf =
    (name: ConsolePageName, language: Language): Handler =>
    async (exchange) => {
      try {
        await (await open()).page(name, language, exchange)
      } catch (thrown) {
        const error = toGatewayError(thrown)
        if (error.code === 'internal')
          parts.log.error(
            { err: thrown, request_id: exchange.context.requestId, page: name },
            'a page of the console failed',
          )
        if (!(await refuse(error, exchange))) throw error
      }
    }

  const pages = Object.entries(CONSOLE_ROUTES as Readonly<Record<ConsolePageName, ConsoleRoute>>).flatMap(
    ([name, route]) =>
      LANGUAGES.map((language): Resource => {
        const handler = handlerOf(name as ConsolePageName, language)
        const path = language === LANGUAGES[0] ? route.path : `/${language}${route.path}`
        return { path, methods: { GET: handler, ...(route.takesForm && { POST: handler }) } }
      }),
  )
  const events = createEvents(parts)
  return {
    resources: [...pages, { path: '/console/events', methods: { GET: events.handle } }],
    close: () => events.close(),
  }
}
