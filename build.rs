//! Sets the `cfg` flags for the PHP that the extension is built for: `php81` to `php86`, `php_zts`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PHP");
    ext_php_rs_build::emit_check_cfg();
    // A fuzzing target is built without src/php.
    if std::env::var_os("CARGO_CFG_FUZZING").is_some() {
        return Ok(());
    }
    let php = ext_php_rs_build::find_php()?;
    let info = ext_php_rs_build::PHPInfo::get(&php)?;
    let version: ext_php_rs_build::ApiVersion = info.zend_version()?.try_into()?;
    ext_php_rs_build::emit_php_cfg_flags(version);
    if info.thread_safety()? {
        println!("cargo:rustc-cfg=php_zts");
    }
    // PHP can load the C compiler's runtime of AddressSanitizer, but not Rust's; see scripts/sanitize.sh.
    if std::env::var("CARGO_CFG_SANITIZE").is_ok_and(|names| names.contains("address")) {
        println!("cargo:rustc-link-arg=-lasan");
    }
    Ok(())
}
