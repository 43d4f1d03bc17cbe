// `listings`: services of the market, from draft to retired, and what the operator decides about them.
import { type Command, InvalidArgumentError } from 'commander'
import { ListingEdit } from '../../schemas/market-seller.ts'
import { marketplaceListingsCheck } from '../../tools/marketplace-listings-check.ts'
import { marketplaceListingsCreate } from '../../tools/marketplace-listings-create.ts'
import { marketplaceListingsCredential } from '../../tools/marketplace-listings-credential.ts'
import { marketplaceListingsImport } from '../../tools/marketplace-listings-import.ts'
import { marketplaceListingsStep } from '../../tools/marketplace-listings-step.ts'
import { marketplaceListingsUpdate } from '../../tools/marketplace-listings-update.ts'
import { marketplaceModerationDecide } from '../../tools/marketplace-moderation-decide.ts'
import { marketplaceModerationQueue } from '../../tools/marketplace-moderation-queue.ts'
import { marketplaceSellerState } from '../../tools/marketplace-seller-state.ts'
import { isObject } from '../lib/json.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { parseInput, readInput } from './input.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { formatValue, printJson, printLine, printRecord, printTable, type Row } from './output.ts'
import { readSecret } from './secrets.ts'

const SHOWN = [
  'seller',
  'service_id',
  'version',
  'state',
  'state_reason',
  'origin',
  'endpoint',
  'test_endpoint',
]

function printListing(listing: Row, options: ConnectionOptions): void {
  if (options.json) return printJson(listing)
  printRecord(Object.fromEntries(SHOWN.map((name) => [name, listing[name]])), options)
}

/** A file of JSON with an object in it; `-` is stdin. @throws {CommandFailure} */
async function readObject(what: string, file: string): Promise<Record<string, unknown>> {
  const value = parseInput(file, (await readInput(what, file)).toString('utf8'))
  if (!isObject(value)) throw new CommandFailure(Exit.usage, `${file} is no JSON object.`)
  return value
}

/** `listings import|create|update|list|check|submit|pause|resume|retire|credential|queue|approve|suspend|reinstate`. */
export function addListingCommands(program: Command): void {
  const listings = program.command('listings').description('services of the market: what a seller offers')
  addOffering(listings)
  addSteps(listings)
  addModeration(listings)
}

function addOffering(listings: Command): void {
  addConnectionOptions(listings.command('import <service-id>'))
    .description('draft a service from an OpenAPI document (3.0 or 3.1), or change the one of this id')
    .requiredOption('--origin <url>', 'https://api.example.com: a host that you have proven')
    .option('--openapi-url <url>', 'of the document, on that host')
    .option('--openapi-file <file>', 'the document as JSON; - is stdin')
    .option('--price <atomic>', 'of operations without x-payment-info, in atomic units: 10000 is one cent')
    .action(
      async (
        serviceId: string,
        options: ConnectionOptions & {
          origin: string
          openapiUrl?: string
          openapiFile?: string
          price?: string
        },
      ) => {
        const { openapiUrl, openapiFile, price } = options
        const document = openapiFile === undefined ? undefined : await readObject('document', openapiFile)
        const answer = await (
          await connect(options)
        ).call(marketplaceListingsImport, {
          service_id: serviceId,
          origin: options.origin,
          ...(openapiUrl === undefined ? {} : { url: openapiUrl }),
          ...(document === undefined ? {} : { document }),
          ...(price === undefined ? {} : { default_price_atomic: price }),
        })
        if (options.json) return printJson(answer)
        printListing(answer.service, options)
        for (const operation of answer.imported) printLine(`+ ${formatValue(operation)}`)
        for (const { operation, reason } of answer.skipped)
          printLine(`- ${formatValue(operation)}: ${formatValue(reason)}`)
        for (const note of answer.notes) printLine(formatValue(note))
      },
    )

  addConnectionOptions(listings.command('create <service-id> <file>'))
    .description(
      'draft a service from a JSON file with the members of the tool gateway.seller.create; - is stdin',
    )
    .action(async (serviceId: string, file: string, options: ConnectionOptions) => {
      const given = await readObject('listing', file)
      const input = { ...given, service_id: serviceId }
      // The gateway judges what is in it, and says what is wrong.
      printListing(await (await connect(options)).call(marketplaceListingsCreate, input as never), options)
    })

  addConnectionOptions(listings.command('update <service-id> <file>'))
    .description('change the members that a JSON file holds; - is stdin')
    .action(async (serviceId: string, file: string, options: ConnectionOptions) => {
      const edit = ListingEdit.safeParse(await readObject('change', file))
      if (!edit.success)
        throw new CommandFailure(Exit.usage, `${file}: ${edit.error.issues[0]?.message ?? 'not valid'}`)
      const input = { ...edit.data, service_id: serviceId }
      printListing(await (await connect(options)).call(marketplaceListingsUpdate, input), options)
    })

  addTableOptions(addConnectionOptions(listings.command('list')))
    .description('your services')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const { services } = await (await connect(options)).call(marketplaceSellerState, {})
      if (options.json) return printJson(services)
      const columns = ['service_id', 'state', 'version', 'state_reason', 'endpoint']
      printTable(services, columns, 'No services.', options)
    })

  addConnectionOptions(listings.command('credential <service-id>'))
    .description('store the secret that your upstream asks for, read from stdin or a file; it is never shown')
    .option('--header <name>', 'request header it goes in; default authorization')
    .option('--scheme <word>', 'word before it, "" for none; default Bearer with authorization')
    .option('--secret-file <file>', 'read it from this file instead of stdin')
    .option('--remove', 'send no credential any more')
    .action(
      async (
        serviceId: string,
        options: ConnectionOptions & {
          header?: string
          scheme?: string
          secretFile?: string
          remove?: boolean
        },
      ) => {
        const client = await connect(options)
        const { header, scheme, secretFile, remove } = options
        if (remove)
          return printListing(
            await client.call(marketplaceListingsCredential, { service_id: serviceId, secret: null }),
            options,
          )
        const secret = await readSecret('secret', secretFile)
        const input = secret.use((text) => ({
          service_id: serviceId,
          secret: text,
          ...(header === undefined ? {} : { header }),
          ...(scheme === undefined ? {} : { scheme }),
        }))
        return printListing(await client.call(marketplaceListingsCredential, input), options)
      },
    )
}

function addSteps(listings: Command): void {
  addTableOptions(addConnectionOptions(listings.command('check <service-id>')))
    .description('try every route with your own example, as a buyer would; exit code 1 where one fails')
    .action(async (serviceId: string, options: ConnectionOptions & TableOptions) => {
      const answer = await (await connect(options)).call(marketplaceListingsCheck, { service_id: serviceId })
      if (!answer.ok) process.exitCode = Exit.failed
      if (options.json) return printJson(answer)
      const columns = ['method', 'path', 'ok', 'status', 'duration_ms', 'problem']
      printTable(answer.routes, columns, 'No routes.', options)
    })

  const words = {
    submit: 'offer a draft; the first one may wait for the operator',
    pause: 'stop selling, until you resume',
    resume: 'sell again what you paused',
    retire: 'end a service for ever; its id stays taken',
  } as const
  for (const [step, description] of Object.entries(words) as [keyof typeof words, string][])
    addConnectionOptions(listings.command(`${step} <service-id>`))
      .description(description)
      .option('--reason <text>', 'of a pause: buyers are shown it')
      .action(async (serviceId: string, options: ConnectionOptions & { reason?: string }) => {
        const { reason } = options
        const input = { service_id: serviceId, step, ...(reason === undefined ? {} : { reason }) }
        printListing(await (await connect(options)).call(marketplaceListingsStep, input), options)
      })
}

/** `acme-weather/now` -> its two ids. */
function parseService(text: string): { seller: string; service_id: string } {
  const [, seller, serviceId] = /^([a-z0-9-]+)\/([a-z0-9-]+)$/.exec(text) ?? []
  if (seller === undefined || serviceId === undefined)
    throw new InvalidArgumentError('Write seller and service with a slash between them: acme-weather/now.')
  return { seller, service_id: serviceId }
}

function addModeration(listings: Command): void {
  addTableOptions(addConnectionOptions(listings.command('queue')))
    .description('services that wait for the operator, the longest first (administrators)')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const { services } = await (await connect(options)).call(marketplaceModerationQueue, {})
      if (options.json) return printJson(services)
      const columns = ['seller', 'service_id', 'version', 'name', 'origin', 'updated_at']
      printTable(services, columns, 'Nothing waits.', options)
    })

  const words = {
    approve: 'let a service that waits be sold (administrators)',
    suspend: 'stop a service (administrators)',
    reinstate: 'let a suspended service be sold again (administrators)',
  } as const
  for (const [decision, description] of Object.entries(words) as [keyof typeof words, string][])
    addConnectionOptions(listings.command(`${decision} <seller/service>`))
      .description(description)
      .requiredOption('--reason <text>', 'the seller reads it')
      .option('--looked-at <version>', 'that you looked at: needed for a service that was changed', Number)
      .action(async (service: string, options: ConnectionOptions & { reason: string; lookedAt?: number }) => {
        const { reason, lookedAt: version } = options
        const input = {
          ...parseService(service),
          ...(version !== undefined && { version }),
          decision,
          reason,
        }
        printRecord(await (await connect(options)).call(marketplaceModerationDecide, input), options)
      })
}
