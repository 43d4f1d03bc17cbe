// What speaks against the release of a tag. Like `manifest.ts` it imports no package.
import { type Manifest, repositoryUrl } from './manifest.ts'

/** What a tag was set on, and where. */
export interface ReleaseCandidate {
  readonly tag: string
  /** `owner/name` of the repository that would release it. */
  readonly repository: string
  readonly manifest: Pick<Manifest, 'version' | 'mcpName' | 'repository'>
  /** The text of CHANGELOG.md. */
  readonly changes: string
}

/** A sentence for each reason not to release; none where the tag may be released. */
export function releaseProblems({ tag, repository, manifest, changes }: ReleaseCandidate): readonly string[] {
  const { version, mcpName } = manifest
  const home = new URL(repositoryUrl(manifest)).pathname.slice(1)
  // The newest section: what is under `Unreleased` above it would be in the release, and nobody would find it there.
  const [, newest] = /^## (.*?)\s*$/m.exec(changes) ?? []
  return [
    ...(tag === `v${version}` ? [] : [`the tag is ${tag}, package.json has version ${version}`]),
    ...(repository === home
      ? []
      : [
          `this is ${repository}, package.json says ${home}: set repository, homepage and mcpName to yours before you publish`,
        ]),
    ...(mcpName.toLowerCase().startsWith(`io.github.${home.split('/')[0]}/`.toLowerCase())
      ? []
      : [`mcpName ${mcpName} does not begin with io.github.${home.split('/')[0]}/`]),
    ...(newest === version
      ? []
      : [`CHANGELOG.md has ${newest ?? 'no section'} on top, and not the section ${version}`]),
  ]
}
