//! Making classes known to the engine: what a C extension generates from its stubs.

use super::call::Handler;
use ext_php_rs::args::ArgInfo;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::flags::{ClassFlags, MethodFlags};
use ext_php_rs::types::ZendStr;
use ext_php_rs::zend::{ClassEntry, FunctionEntry, ZendType};
use std::ffi::CStr;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A class once it is registered.
pub struct Class(AtomicPtr<ClassEntry>);

impl Class {
    /// One that is not registered yet.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The engine's entry, or null before it is registered.
    #[inline]
    pub fn as_ptr(&self) -> *mut ClassEntry {
        self.0.load(Ordering::Relaxed)
    }

    /// The engine's entry.
    #[inline]
    #[allow(clippy::expect_used, reason = "all are set at startup, or startup fails")]
    pub fn get(&self) -> &'static ClassEntry {
        // SAFETY: null, or what the engine registered, which it keeps until after the module's
        // shutdown.
        unsafe { self.as_ptr().as_ref() }.expect("class is registered")
    }
}

/// A type in a signature.
#[derive(Clone, Copy)]
pub struct Type {
    mask: u32,
    class: Option<&'static CStr>,
}

impl Type {
    /// No type at all.
    pub const NONE: Self = Self { mask: 0, class: None };
    pub const INT: Self = Self::of(ffi::IS_LONG);
    pub const FLOAT: Self = Self::of(ffi::IS_DOUBLE);
    pub const STRING: Self = Self::of(ffi::IS_STRING);
    pub const ARRAY: Self = Self::of(ffi::IS_ARRAY);
    pub const VOID: Self = Self::of(ffi::IS_VOID);
    pub const BOOL: Self = Self { mask: ffi::MAY_BE_BOOL, class: None };

    const fn of(code: u32) -> Self {
        Self { mask: 1 << code, class: None }
    }

    /// An object of a class.
    pub const fn object(class: &'static CStr) -> Self {
        Self { mask: 0, class: Some(class) }
    }

    /// Either of two types.
    pub const fn or(self, other: Self) -> Self {
        Self { mask: self.mask | other.mask, class: self.class }
    }

    /// The type or null.
    pub const fn or_null(self) -> Self {
        Self { mask: self.mask | ffi::_ZEND_TYPE_NULLABLE_BIT, class: self.class }
    }

    fn to_zend(self) -> ZendType {
        #[cfg(php83)]
        const NAMED: u32 = ffi::_ZEND_TYPE_LITERAL_NAME_BIT;
        #[cfg(not(php83))]
        const NAMED: u32 = ffi::_ZEND_TYPE_NAME_BIT;
        match self.class {
            None => ZendType { ptr: ptr::null_mut(), type_mask: self.mask },
            Some(name) => {
                ZendType { ptr: name.as_ptr().cast_mut().cast(), type_mask: self.mask | NAMED }
            }
        }
    }
}

/// A parameter.
pub struct Parameter {
    pub name: &'static CStr,
    pub ty: Type,
    /// The default as PHP source; without one the parameter is required.
    pub default: Option<&'static CStr>,
    /// Whether traces must not show it.
    pub sensitive: bool,
}

/// A required parameter.
pub const fn required(name: &'static CStr, ty: Type) -> Parameter {
    Parameter { name, ty, default: None, sensitive: false }
}

/// A parameter with a default.
pub const fn optional(name: &'static CStr, ty: Type, default: &'static CStr) -> Parameter {
    Parameter { name, ty, default: Some(default), sensitive: false }
}

/// A parameter that may hold a secret: from PHP 8.2 on traces do not show it.
pub const fn sensitive(parameter: Parameter) -> Parameter {
    Parameter { sensitive: true, ..parameter }
}

/// A method.
pub struct Method {
    pub name: &'static CStr,
    /// What runs; an interface's method has none.
    pub handler: Option<Handler>,
    pub flags: MethodFlags,
    pub parameters: &'static [Parameter],
    pub returns: Type,
}

/// A public method.
pub const fn public(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    Method { name, handler: Some(handler), flags: MethodFlags::Public, parameters, returns }
}

/// A public static method.
pub const fn public_static(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    let flags = MethodFlags::Public.union(MethodFlags::Static);
    Method { name, handler: Some(handler), flags, parameters, returns }
}

/// A protected method.
pub const fn protected(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    Method { name, handler: Some(handler), flags: MethodFlags::Protected, parameters, returns }
}

/// A private method.
pub const fn private(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    Method { name, handler: Some(handler), flags: MethodFlags::Private, parameters, returns }
}

/// A method of an interface.
pub const fn signature(
    name: &'static CStr,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    let flags = MethodFlags::Public.union(MethodFlags::Abstract);
    Method { name, handler: None, flags, parameters, returns }
}

/// Registers a class; null for no parent. At startup only.
pub fn class(
    class: &Class,
    name: &str,
    flags: ClassFlags,
    methods: &[Method],
    parent: *mut ClassEntry,
    interfaces: &[&Class],
) {
    register(class, name, methods, interfaces, |entry| {
        // SAFETY: `entry` is complete, `parent` null or a registered class, and we are in
        // the module's startup.
        let registered = unsafe { ffi::zend_register_internal_class_ex(entry, parent) };
        // SAFETY: just registered, and nobody else uses it during startup.
        unsafe { (*registered).ce_flags |= flags.bits() };
        registered
    });
}

/// Registers an interface. At startup only.
pub fn interface(class: &Class, name: &str, methods: &[Method]) {
    register(class, name, methods, &[], |entry| {
        // SAFETY: `entry` is complete and we are in the module's startup.
        unsafe { ffi::zend_register_internal_interface(entry) }
    });
}

fn register(
    class: &Class,
    name: &str,
    methods: &[Method],
    interfaces: &[&Class],
    register: impl FnOnce(&mut ClassEntry) -> *mut ClassEntry,
) {
    let mut table: Vec<FunctionEntry> = methods.iter().map(function_entry).collect();
    table.push(FunctionEntry::end());
    // SAFETY: a zeroed class entry is how INIT_CLASS_ENTRY begins: plain C data.
    let mut entry: ClassEntry = unsafe { MaybeUninit::zeroed().assume_init() };
    entry.name = ZendStr::new_interned(name, true).into_raw();
    // Kept until the process ends, as a C extension's static tables are.
    entry.info.internal.builtin_functions = Box::leak(table.into_boxed_slice()).as_ptr();
    class.0.store(register(&mut entry), Ordering::Relaxed);
    #[cfg(php82)]
    for method in methods {
        hide_sensitive(class, method);
    }
    for interface in interfaces {
        implement(class, interface.as_ptr());
    }
}

/// Gives `#[\SensitiveParameter]` to the parameters of a method that may hold a secret.
#[cfg(php82)]
fn hide_sensitive(class: &Class, method: &Method) {
    unsafe extern "C" {
        // Its header is not among those that ext-php-rs binds; the same from PHP 8.0 to 8.6.
        fn zend_add_attribute(
            attributes: *mut *mut ffi::HashTable,
            name: *mut ffi::zend_string,
            arguments: u32,
            flags: u32,
            offset: u32,
            line: u32,
        ) -> *mut std::ffi::c_void;
    }
    /// `ZEND_ATTRIBUTE_PERSISTENT`: lives as long as the class.
    const PERSISTENT: u32 = 1;
    let name = method.name.to_string_lossy().to_lowercase();
    for (index, _) in method.parameters.iter().enumerate().filter(|(_, p)| p.sensitive) {
        // SAFETY: the class is registered, its functions are ours, and nobody else uses them
        // during startup. The name is interned for the life of the process.
        unsafe {
            let table = &raw const (*class.as_ptr()).function_table;
            let found = ffi::zend_hash_str_find(table, name.as_ptr().cast(), name.len());
            let Some(function) = found.as_ref().and_then(|zval| zval.value.func.as_mut()) else {
                continue;
            };
            let attribute = ZendStr::new_interned("SensitiveParameter", true).into_raw();
            // Offset 0 is the function, 1 its first parameter.
            let offset = index as u32 + 1;
            let attributes = &raw mut function.common.attributes;
            zend_add_attribute(attributes, attribute, 0, PERSISTENT, offset, 0);
        }
    }
}

/// Has a class implement an interface. At startup only.
pub fn implement(class: &Class, interface: *mut ClassEntry) {
    // SAFETY: both are registered, and nobody else uses the class during startup.
    unsafe { ffi::zend_do_implement_interface(class.as_ptr(), interface) };
}

fn function_entry(method: &Method) -> FunctionEntry {
    let required = method.parameters.iter().filter(|p| p.default.is_none()).count();
    let mut info = vec![ArgInfo {
        // The head of the table: this field is the number of required parameters.
        name: ptr::without_provenance(required),
        type_: method.returns.to_zend(),
        default_value: ptr::null(),
    }];
    info.extend(method.parameters.iter().map(|parameter| ArgInfo {
        name: parameter.name.as_ptr(),
        type_: parameter.ty.to_zend(),
        default_value: parameter.default.map_or(ptr::null(), CStr::as_ptr),
    }));
    FunctionEntry {
        fname: method.name.as_ptr(),
        handler: method.handler,
        num_args: method.parameters.len() as u32,
        arg_info: Box::leak(info.into_boxed_slice()).as_ptr(),
        #[allow(clippy::useless_conversion, reason = "u64 from PHP 8.6 on")]
        flags: method.flags.bits().into(),
        #[cfg(php84)]
        doc_comment: ptr::null(),
        #[cfg(php84)]
        frameless_function_infos: ptr::null(),
    }
}

/// Declares a public constant of a class. At startup only.
pub fn constant(class: &Class, name: &str, value: impl IntoZval) {
    let name = ZendStr::new_interned(name, true);
    let Ok(value) = value.into_zval(true) else { return };
    // The class owns the value from here on.
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the class is registered and ours; name and value live as long as the process.
    unsafe {
        ffi::zend_declare_class_constant_ex(
            class.as_ptr(),
            name.as_ptr().cast_mut(),
            &raw mut *value,
            ffi::ZEND_ACC_PUBLIC as _,
            ptr::null_mut(),
        );
    }
}
