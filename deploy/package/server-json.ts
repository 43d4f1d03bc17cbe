// server.json: what the registry of MCP servers and the clients that read it are told. Names and words come from package.json and from the
// list of variables, so there is nothing here to keep in step.
import { Environment } from '../../src/app/variables.ts'
import { type Manifest, releaseFile, repositoryUrl } from './manifest.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** What `agent-gateway stdio` is configured with. */
const VARIABLES = [
  'GATEWAY_BASE_URL',
  'GATEWAY_TOKEN',
  'GATEWAY_TOKEN_FILE',
  'GATEWAY_DATA_DIR',
  'GATEWAY_MCP_NAMES',
] as const
const SECRET: readonly string[] = ['GATEWAY_TOKEN']
const FILES: readonly string[] = ['GATEWAY_TOKEN_FILE', 'GATEWAY_DATA_DIR']

const variablesOf = () =>
  VARIABLES.map((name) => ({
    name,
    description: String(Environment.shape[name].meta()?.['description'] ?? '').replaceAll('`', ''),
    format: FILES.includes(name) ? 'filepath' : 'string',
    isRequired: false,
    isSecret: SECRET.includes(name),
  }))

/** @param mcpb the bundle for desktop assistants: name of the file, SHA-256 of it in hex */
export function describeServer(manifest: Manifest, mcpb: { file: string; sha256: string }): string {
  const { name, mcpName, version, description } = manifest
  const transport = { type: 'stdio' }
  return `${JSON.stringify(
    {
      $schema: SCHEMA,
      name: mcpName,
      title: 'Agent Gateway',
      description,
      version,
      repository: { url: repositoryUrl(manifest), source: 'github' },
      packages: [
        {
          registryType: 'npm',
          identifier: name,
          version,
          runtimeHint: 'npx',
          transport,
          packageArguments: [{ type: 'positional', value: 'stdio' }],
          environmentVariables: variablesOf(),
        },
        // A bundle asks its own questions (manifest.json).
        {
          registryType: 'mcpb',
          identifier: releaseFile(manifest, mcpb.file),
          version,
          fileSha256: mcpb.sha256,
          transport,
        },
      ],
    },
    undefined,
    2,
  )}\n`
}
