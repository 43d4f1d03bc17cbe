// The code of the published package: every entry of the build with all that it imports, cut into chunks that load when they are needed.
import { build, type Metafile, type Plugin } from 'esbuild'
import { type Manifest, ROOT } from './manifest.ts'

/**
 * Packages that are looked for where the gateway is installed, and that it does without: faster signatures, and the clients of key
 * services. They hold machine code, or more than all the rest.
 */
const LOOKED_FOR = ['sodium-native', 'secp256k1', '@aws-sdk/client-kms', '@google-cloud/kms'] as const

/** What drivers try and do without; a stranger's copy in a folder above would be loaded else. */
const NEVER = ['pg-native', 'pg-cloudflare', 'bufferutil', 'utf-8-validate']

const never: Plugin = {
  name: 'never',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:${NEVER.join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'never',
    }))
    onLoad({ filter: /.*/, namespace: 'never' }, ({ path }) => ({
      contents: `throw Object.assign(new Error('${path} is not part of agent-gateway'), { code: 'MODULE_NOT_FOUND' })`,
      loader: 'js',
    }))
  },
}

const packaged: Plugin = {
  name: 'packaged',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]lib[\\/]packaged\.ts$/ }, () => ({
      contents: 'export const IS_PACKAGED = true',
      loader: 'ts',
    }))
  },
}

/** Writes the chunks into a folder. @returns which file went where, paths relative to the repository */
export async function bundle(manifest: Manifest, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...manifest.tsup.entry },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: manifest.tsup.target,
    chunkNames: '[name]-[hash]',
    minify: true,
    // Names of classes are words of the protocols that some packages speak (oidc-provider), and what a stack is read by.
    keepNames: true,
    legalComments: 'eof',
    // Packages in the older format of modules ask for Node's own with `require`.
    banner: {
      js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
    },
    external: [...LOOKED_FOR],
    plugins: [never, packaged],
    logLevel: 'error',
    metafile: true,
  })
  return metafile
}
