// Every path that is not MCP's or A2A's: tools, documents, pages. Express matches paths with parameters; a path
// without any is one Map lookup in front of it, to the same handler.
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler } from 'express'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { must } from '../../lib/must.ts'
import { type HttpContext, type HttpHandler } from '../http/request.ts'
import { sendProblem } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'
import { documentResources } from './documents.ts'
import { dispatch, type Exchange, type Resource } from '../http/resource.ts'
import type { SitePages } from '../http/site-pages.ts'
import { permitEvents } from './permit-events.ts'
import { toolResources } from './tools.ts'

export interface RestDoor {
  /** Every other path: tools, documents, pages. */
  readonly http: HttpHandler
  /** Of every resource, in the style of OpenAPI. */
  readonly paths: readonly string[]
}

/** Opens the routes of every tool and the documents. A path without a route is 404, a method without one 405 with `Allow`. */
export function createRestDoor(parts: DoorParts, site: SitePages, pages: readonly Resource[] = []): RestDoor {
  const { addresses } = parts
  const resources = withPages(
    [...toolResources({ ...parts, site }), permitEvents(parts), ...documentResources(parts)],
    [...site.resources, ...pages],
  )
  const exact = new Map<string, Resource>()
  for (const resource of resources) {
    if (exact.has(resource.path)) throw new Error(`two resources claim ${resource.path}`)
    exact.set(resource.path, resource)
  }
  const contexts = new WeakMap<IncomingMessage, HttpContext>()
  const contextOf = (req: IncomingMessage) =>
    must(contexts.get(req), 'the context of a request that the router was given')

  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing')
  app.set('query parser', false)
  for (const resource of resources.filter(({ path }) => path.includes('{')))
    app.route(resource.path.replaceAll(/\{(\w+)\}/g, ':$1')).all((req, res) =>
      dispatch(resource, {
        req,
        res,
        context: contextOf(req),
        params: req.params as Record<string, string>,
      }),
    )
  app.use((req, res, next) => {
    const missing = new GatewayError('not_found', `See ${addresses.baseUrl}/openapi.json for every address.`)
    const exchange = { req, res, context: contextOf(req), params: NO_PARAMS }
    site.refuse(missing, exchange).then((isShown) => isShown || next(missing), next)
  })
  const refuse: ErrorRequestHandler = (thrown, req, res, _next) =>
    answerRefusal(refusalOf(thrown), { req, res, context: contextOf(req), params: NO_PARAMS })
  app.use(refuse)

  /** What no tool answered: in words to a person, as a problem document to a program. */
  async function answerRefusal(thrown: unknown, exchange: Exchange): Promise<void> {
    const error = toGatewayError(thrown)
    if (await site.refuse(error, exchange)) return
    sendProblem(exchange.res, thrown, exchange.context, addresses)
  }

  /** What is at an address without parameters is also at the address with a slash behind it. */
  function withoutSlash(path: string, method: string | undefined): Resource | undefined {
    if (!path.endsWith('/') || path.endsWith('//')) return undefined
    const resource = exact.get(path.slice(0, -1))
    const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    return (isRead ? resource?.methods.GET : resource?.methods.POST) && resource
  }

  return {
    paths: resources.map(({ path }) => path),
    async http(req: IncomingMessage, res: ServerResponse, context: HttpContext) {
      const resource = exact.get(context.path) ?? withoutSlash(context.path, req.method)
      if (!resource || resource.path.includes('{')) {
        contexts.set(req, context)
        app(req, res)
        return
      }
      try {
        await dispatch(resource, { req, res, context, params: NO_PARAMS })
      } catch (thrown) {
        await answerRefusal(thrown, { req, res, context, params: NO_PARAMS })
      }
    },
  }
}

const NO_PARAMS = {}

/** A page may have the address of a tool that takes another method. @throws {Error} where both take the same */
function withPages(resources: readonly Resource[], pages: readonly Resource[]): Resource[] {
  const pageAt = new Map(pages.map((page) => [page.path, page]))
  const merged = resources.map((resource) => {
    const page = pageAt.get(resource.path)
    if (!page) return resource
    pageAt.delete(resource.path)
    const both = Object.keys(page.methods).filter((method) => method in resource.methods)
    if (both.length > 0) throw new Error(`two resources claim ${both.join(', ')} ${resource.path}`)
    return { ...resource, methods: { ...page.methods, ...resource.methods } }
  })
  return [...merged, ...pageAt.values()]
}

/** The router's own refusal is a path that does not decode. */
function refusalOf(thrown: unknown): unknown {
  const isBadPath =
    typeof thrown === 'object' && thrown !== null && 'status' in thrown && thrown.status === 400
  return isBadPath && !(thrown instanceof GatewayError)
    ? new GatewayError('request_invalid', 'The path has a broken percent-encoding.', { cause: thrown })
    : thrown
}
