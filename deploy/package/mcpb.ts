// The bundle for desktop assistants: the package with a manifest that says how to start it and what to ask a person for.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packExtension, validateManifest } from '@anthropic-ai/mcpb'
import { type Manifest, repositoryUrl } from './manifest.ts'

/** Manifest 0.3. A default of nothing has the assistant hand over an empty variable, which counts as unset; else it would hand over the words in braces. */
export const describeExtension = (manifest: Manifest) => ({
  manifest_version: '0.3',
  name: manifest.name,
  display_name: 'Agent Gateway',
  version: manifest.version,
  description: manifest.description,
  long_description:
    'Connects this assistant to an Agent Gateway: it calls APIs with credentials that the gateway holds, reads the web, checks mail addresses ' +
    'and buys services, within what its token allows. Without an address a sandbox with test money runs on this machine.',
  author: { name: 'Agent Gateway' },
  repository: { type: 'git', url: repositoryUrl(manifest) },
  homepage: manifest.homepage,
  license: manifest.license,
  keywords: [...manifest.keywords],
  server: {
    type: 'node',
    entry_point: 'dist/launcher.js',
    mcp_config: {
      command: 'node',
      args: ['${__dirname}/dist/launcher.js', 'stdio'],
      env: {
        GATEWAY_BASE_URL: '${user_config.gateway_url}',
        GATEWAY_TOKEN: '${user_config.token}',
        // Not asked for: an assistant replaces this here, and not in an answer's default.
        GATEWAY_DATA_DIR: '${HOME}/.agent-gateway',
      },
    },
  },
  tools_generated: true,
  user_config: {
    gateway_url: {
      type: 'string',
      title: 'Address of the gateway',
      description:
        'For example https://gateway.example.com. Leave it empty to try a sandbox on this machine.',
      required: false,
      default: '',
    },
    token: {
      type: 'string',
      title: 'Token',
      description:
        'A capability (agw_cap_…) that the gateway issued for this assistant. Without one only what is public can be used.',
      sensitive: true,
      required: false,
      default: '',
    },
  },
  compatibility: {
    platforms: ['darwin', 'linux'],
    runtimes: { node: manifest.engines['node'] },
  },
})

/** Packs a folder with the manifest in it. @throws {Error} where the manifest is not valid */
export async function packMcpb(manifest: Manifest, folder: string, file: string): Promise<void> {
  const path = join(folder, 'manifest.json')
  await writeFile(path, `${JSON.stringify(describeExtension(manifest), undefined, 2)}\n`)
  if (!validateManifest(path)) throw new Error(`${path} is no valid manifest`)
  if (!(await packExtension({ extensionPath: folder, outputPath: file, silent: true })))
    throw new Error(`${file} was not packed`)
}
