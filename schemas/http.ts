import { z } from 'zod'

export const HttpMethod = z
  .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
  .describe('HTTP method, upper case')

/** A host as an operator writes it in an allow-list: A-label, lower case, optionally with a port. */
export const AllowedHost = z
  .string()
  .max(259)
  .regex(
    /^(?=.{1,253}(?::|$))(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9][0-9]{0,4})?$/,
    'must be an exact host name in lower-case ASCII, such as api.example.com or api.example.com:8443, and nothing else',
  )
  .describe('Exact host name in lower-case ASCII; `host:port` limits it to one port')

export const PathPrefix = z
  .string()
  .max(1024)
  .regex(/^\/[!-~]*$/, 'must begin with / and hold printable ASCII without spaces')
  .describe('Path prefix; matches itself and what lies below it at a `/` boundary')

export const Scope = z
  .strictObject({
    hosts: z.array(AllowedHost).min(1).max(16),
    path_prefixes: z.array(PathPrefix).min(1).max(32),
    methods: z.array(HttpMethod).min(1).max(6),
  })
  .describe('What may be called: exact HTTPS host, path prefix and method')
export type Scope = z.infer<typeof Scope>

/** The answer of an upstream, as data. Exactly one of `body` and `body_base64` is present. */
export const UpstreamResponse = z.strictObject({
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()),
  dropped_headers: z
    .array(z.string())
    .optional()
    .describe(
      'Names of headers that were sent and are not passed on; an operator can list them for the credential',
    ),
  body: z.string().optional().describe('The body, when it is valid UTF-8 text'),
  body_base64: z.string().optional().describe('The body, when it is not text'),
})

export const Timestamp = z.string().describe('RFC 3339 time in UTC with milliseconds')
