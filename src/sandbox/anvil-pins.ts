// The node that `agent-gateway sandbox install` gets: the packages of one release with the digests that npm compares. The version is that of
// the optional dependency `@foundry-rs/anvil`, of which the lock file knows the machine's own package alone.
// A new version: `npm view @foundry-rs/anvil-<platform>@<version> dist.integrity` for each.

export const ANVIL_VERSION = '1.7.1'

/** By Node's `process.platform` and `process.arch`: name of the package, and its digest (Subresource Integrity). */
export const ANVIL_PINS: Readonly<Record<string, { readonly name: string; readonly integrity: string }>> = {
  'linux-x64': {
    name: '@foundry-rs/anvil-linux-amd64',
    integrity:
      'sha512-+XmShybEaxfCrr0OUUZwYEy2OnYZt5pHH9TzBtLv3+VrK0O/ANuNSVEahqNhKHlgX7GRJ59383ofNhxkRWIYTg==',
  },
  'linux-arm64': {
    name: '@foundry-rs/anvil-linux-arm64',
    integrity:
      'sha512-ykHJmFOGdBR8+9smOKBm9ZZDCCCkLQctiHOAddLvmYx9mPeBDMfq6jP51hKYsO5MG8ClPLSlWe+JpiXPjoXgBQ==',
  },
  'darwin-arm64': {
    name: '@foundry-rs/anvil-darwin-arm64',
    integrity:
      'sha512-JNeu3+A3f/npXLn8SR8EahVcqE7BpO9VQZMcPvSIy27/RNc1GsoEBvSLR99aSvt8sGKWAgNg/EzrtjAPq6mxcA==',
  },
  'darwin-x64': {
    name: '@foundry-rs/anvil-darwin-amd64',
    integrity:
      'sha512-OgwzwY+FsGrsPyDv4mmbhOwARO8s37YHrm2qaNzgSH4VlKnXgJCrnoT7bpgOhLyBPtxXjBT8L2E3b79deesXRg==',
  },
  'win32-x64': {
    name: '@foundry-rs/anvil-win32-amd64',
    integrity:
      'sha512-IeuBcmQ+AQKUxXA77czSVIfpST+KLBdXaL71JlK/h6e0DoP2CYnmVZn8WE/fuQfjAU2zaWw7PDXmq1kedbIUGA==',
  },
}

/** The package for this machine; undefined where there is none. */
export const pinOfThisMachine = () => ANVIL_PINS[`${process.platform}-${process.arch}`]
