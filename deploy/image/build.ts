// `npm run image`: the image localhost/agent-gateway:<version> of what `npm run bundle` made, of Debian's C library and of the Node that the
// lock file names, and its bill of materials in build/. Needs mmdebstrap and buildah from Debian, and no registry of images.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { readManifest, ROOT } from '../package/manifest.ts'
import { bomName, describeImage, readDebianPackage } from './bill.ts'

const HERE = join(ROOT, 'deploy/image')
/** Debian 13: what is current and kept until 2030. */
const SUITE = 'trixie'
const DEBIAN_RELEASE = '13'
/** What Node is linked with, and the files that say which system this is. Node brings authorities and time zones itself. */
const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'base-files']
/** Nothing reads them there; copyrights stay, they belong to what is passed on. */
const LEFT_OUT = [
  'usr/bin/mawk',
  'usr/share/doc/mawk',
  'usr/share/man',
  'usr/share/lintian',
  'usr/share/gcc',
  'usr/share/gdb',
  'usr/lib/*/gconv',
  'usr/share/doc/*/changelog*',
  'usr/share/doc/*/NEWS*',
  'etc/apt/sources.list*',
]
/** What scanners of images look for where nobody installs packages: a file for each, as `dpkg-deb --field` writes it. */
const STATUS = '/var/lib/dpkg/status.d'
/** Nothing of it is left. */
const NOT_IN_IT = 'mawk'
const USER = 65532
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  execFileSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })

/** Files that name users and how names are found, which the scripts of packages would have written. */
async function writeSystemFiles(folder: string): Promise<void> {
  const files = {
    passwd: `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent-gateway:x:${USER}:${USER}:Agent Gateway:/var/lib/agent-gateway:/usr/sbin/nologin\n`,
    group: `root:x:0:\nagent-gateway:x:${USER}:\n`,
    'nsswitch.conf': 'hosts: files dns\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o644 })
}

/** @param folder where it finds and leaves files; `status.d` in it will say which packages of Debian there are */
async function makeRootfs(tar: string, folder: string): Promise<void> {
  await writeSystemFiles(folder)
  const data = '"$1/var/lib/agent-gateway"'
  run('mmdebstrap', [
    '--variant=extract',
    '--quiet',
    `--architectures=${ARCHITECTURES[process.arch]!}`,
    `--include=${PACKAGES.join(',')}`,
    `--extract-hook=cd "$1" && rm -rf ${LEFT_OUT.join(' ')}`,
    ...['passwd', 'group', 'nsswitch.conf'].map(
      (name) => `--extract-hook=copy-in ${join(folder, name)} /etc`,
    ),
    `--extract-hook=cd "$1" && mkdir -p .${STATUS} && for deb in var/cache/apt/archives/*.deb; do ` +
      `name=$(dpkg-deb --field "$deb" Package) && [ "$name" = ${NOT_IN_IT} ] || dpkg-deb --field "$deb" >".${STATUS}/$name" || exit 1; done`,
    `--extract-hook=copy-out ${STATUS} ${folder}`,
    // A volume that is empty takes the owner of the folder that it covers.
    `--extract-hook=mkdir -p ${data} && chown ${USER}:${USER} ${data} && chmod 0700 ${data}`,
    SUITE,
    tar,
  ])
}

/** @param licence where the words of its licence go, with those of all that it is linked with: V8, OpenSSL, ICU */
async function addNode(file: string, licence: string): Promise<void> {
  const name = `node-${process.platform}-${process.arch}`
  const from = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  await copyFile(join(from, 'bin/node'), file)
  // Symbols for debuggers: 19 MB of 127.
  run('strip', ['--strip-unneeded', file])
  await chmod(file, 0o755)
  await copyFile(join(from, 'LICENSE'), licence)
  await chmod(licence, 0o644)
}

/** Each with the Debian package that it is in. */
const TOOLS = { mmdebstrap: 'mmdebstrap', buildah: 'buildah', strip: 'binutils' }
const missing = Object.entries(TOOLS).filter(([tool]) => spawnSync(tool, ['--version']).error !== undefined)
if (missing.length > 0)
  throw new Error(
    `apt-get install ${missing.map(([, name]) => name).join(' ')}: the image is built with them`,
  )
if (!(process.platform === 'linux' && process.arch in ARCHITECTURES))
  throw new Error('the image is built on Linux, x64 or arm64')
const manifest = await readManifest()
const { version } = manifest
const context = await mkdtemp(join(tmpdir(), 'gateway-image-'))
try {
  const system = join(context, 'system')
  await mkdir(system)
  await makeRootfs(join(context, 'rootfs.tar'), system)
  await addNode(join(context, 'node'), join(context, 'node-copyright'))
  await cp(join(ROOT, 'build/package'), join(context, 'package'), { recursive: true })
  const status = join(system, 'status.d')
  const debian = (await readdir(status)).toSorted().map((name) => readFile(join(status, name), 'utf8'))
  const bom = describeImage({
    manifest,
    release: DEBIAN_RELEASE,
    debian: (await Promise.all(debian)).map(readDebianPackage),
    versions: JSON.parse(
      execFileSync(join(context, 'node'), ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' }),
    ) as Record<string, string>,
    packageBom: await readFile(join(context, 'package/sbom.cdx.json'), 'utf8'),
  })
  await writeFile(join(context, 'image.cdx.json'), bom)
  await writeFile(join(ROOT, 'build', bomName(manifest)), bom)
  for (const name of ['health', 'copy-keys']) {
    const { code } = await transform(await readFile(join(HERE, `${name}.ts`), 'utf8'), { loader: 'ts' })
    await writeFile(join(context, `${name}.js`), code)
  }
  const tag = `localhost/agent-gateway:${version}`
  run(
    'buildah',
    [
      'bud',
      '--format',
      'docker',
      '--build-arg',
      `VERSION=${version}`,
      '--file',
      join(HERE, 'Containerfile'),
      '--tag',
      tag,
      context,
    ],
    // Nothing is run while it is built.
    { BUILDAH_ISOLATION: 'chroot' },
  )
  console.log(tag)
} finally {
  await rm(context, { recursive: true, force: true })
}
