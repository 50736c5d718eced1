//! Tells the compiler which PHP it builds for.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PHP");
    ext_php_rs_build::emit_check_cfg();
    // Built without src/php.
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
    // The C compiler's runtime is the one that can come into a PHP; see scripts/sanitize.sh.
    if std::env::var("CARGO_CFG_SANITIZE").is_ok_and(|names| names.contains("address")) {
        println!("cargo:rustc-link-arg=-lasan");
    }
    Ok(())
}
