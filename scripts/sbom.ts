// `npm run sbom`: the software bill of materials of the installed packages, CycloneDX in JSON, to `dist/sbom.cdx.json`. Fails when a
// package of the default tree is under the GPL or says nothing of its licence.
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"

interface Component {
  readonly name: string
  readonly version: string
  readonly licenses?: ReadonlyArray<{
    readonly license?: { readonly id?: string; readonly name?: string }
    readonly expression?: string
  }>
}

const text = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"], {
  encoding: "utf8",
  maxBuffer: 2 ** 28
})
const { components } = JSON.parse(text) as { readonly components: ReadonlyArray<Component> }
mkdirSync("dist", { recursive: true })
writeFileSync("dist/sbom.cdx.json", text)

const licenceOf = ({ licenses = [] }: Component): string =>
  licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name ?? "").join(" ")
const refused = components.filter((component) => {
  if (component.name.startsWith("@parley/")) return false
  const licence = licenceOf(component)
  return licence === "" || (/(?<!L)GPL/.test(licence) && !/ OR /.test(licence))
})
console.log(`dist/sbom.cdx.json: ${components.length} packages`)
for (const component of refused) console.log(`${component.name} ${component.version}: "${licenceOf(component)}"`)
process.exit(refused.length === 0 ? 0 : 1)
